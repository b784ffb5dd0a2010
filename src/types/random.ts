/** The chance seam: a number in [0, 1). `Math.random` fits; tests pass a seeded one. */
export type Random = () => number;
