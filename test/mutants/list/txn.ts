import type { Fault } from '../fault.ts';

export const TXN_FAULTS: readonly Fault[] = [];
