import type { Fault } from '../fault.ts';

export const WATCH_FAULTS: readonly Fault[] = [];
