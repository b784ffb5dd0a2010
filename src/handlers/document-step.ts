import type { Tried } from './record.ts';

/** Who is there for the records of an object. */
export interface Claims {
  readonly handlerIds: ReadonlySet<string>;
  /** Of the handlers with a `retire` hook. */
  readonly retiringIds: ReadonlySet<string>;
}

/** What is noted beside the end of an attempt that was a success. */
export interface Success {
  /** Of a sub: the args that it has succeeded with. Whatever it was opened with before is undone by that (A9'e). */
  readonly tried: Tried | undefined;
  /** The view that `old` may refer to from now on, if the handler has no plan now; not taken where it had one. */
  readonly seen: { readonly view: unknown } | undefined;
}

/** What is noted beside an attempt that is opened. */
export interface Opening {
  readonly tried?: Tried | undefined;
  readonly schema?: string | undefined;
}
