/** Cases between two collections: few of them hold more than two stores. */
const CASES = 16;

/**
 * Chromium sets addresses aside for each WebAssembly memory, as many as ten gigabytes, and has room for about a hundred. It does
 * collect garbage when they run out, but a page that never rests has been seen to get none of them back. So where a host lends
 * its collector (`--expose-gc`), stores of cases that are over make way in time.
 */
export function collector(): () => void {
  const { gc } = globalThis as { readonly gc?: () => void };
  let cases = 0;
  return () => {
    cases++;
    if (cases % CASES === 0) gc?.();
  };
}
