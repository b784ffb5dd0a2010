import type { Fault } from '../fault.ts';

export const CACHE_FAULTS: readonly Fault[] = [];
