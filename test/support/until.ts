const PATIENCE_MS = 10_000;

/** Waits for what real I/O brings. Throws after 10 s, with what it has waited for. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Waited for 10 s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
