import type { Fault } from '../fault.ts';

export const STORE_FAULTS: readonly Fault[] = [];
