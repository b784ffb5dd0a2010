import type { Fault } from '../fault.ts';

export const LEASE_FAULTS: readonly Fault[] = [];
