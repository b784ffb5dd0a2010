/** Chunks of a stream as one array; `size` is the sum of their lengths, which who collected them knows. */
export function concatenate(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
