import type { Random } from '../types/random.ts';

/** The platform's `Math.random`: good for jitter and for ids that need not be secret. */
export const systemRandom: Random = () => Math.random();
