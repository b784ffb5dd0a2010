/** What `main.mjs` uses of packages that have no types of their own. */
declare module 'benchmark' {
  interface Benchmark {
    readonly hz: number;
    readonly error?: unknown;
    readonly stats: { readonly rme: number; readonly sample: readonly number[] };
    run(options: { async: boolean }): void;
  }
  const Benchmark: {
    new (name: string, options: object): Benchmark;
    runInContext(context: object): typeof Benchmark;
  };
  export default Benchmark;
}

declare module 'lodash' {
  const lodash: object;
  export default lodash;
}

declare module 'platform' {
  const platform: object;
  export default platform;
}
