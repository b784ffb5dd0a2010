// @ts-check

/** Where results go. Exported, so that no engine may assume that nobody reads it. */
export const sink = { total: 0, results: 0 };

/**
 * Uses a result, so that the work behind it cannot be optimised away: every one is folded into `sink.total`. A string
 * is read at its end, which makes an engine put together what it has only promised to concatenate.
 *
 * @param {unknown} result
 */
export function keep(result) {
  sink.results++;
  sink.total = (sink.total + fold(result)) | 0;
}

/**
 * @param {unknown} result
 * @returns {number}
 */
function fold(result) {
  if (typeof result === 'number') return result | 0;
  if (typeof result === 'string') return result.length + result.charCodeAt(result.length - 1);
  if (typeof result === 'bigint') return result === 0n ? 1 : 2;
  if (result instanceof Uint32Array) return result.length + (result[result.length - 1] ?? 0);
  if (Array.isArray(result)) return result.length;
  return result === undefined || result === null ? 3 : 4;
}
