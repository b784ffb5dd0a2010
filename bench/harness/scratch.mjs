// @ts-check
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder among the system's temporary ones that is gone when this process ends, whatever ends it but a SIGKILL.
 *
 * @returns {Promise<{ folder: string, remove: () => void }>}
 */
export async function scratchFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-bench-'));
  // A child that was killed a moment ago may still make a file.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.on('exit', removeFolder);
  const remove = () => {
    process.off('exit', removeFolder);
    removeFolder();
  };
  return { folder, remove };
}

/** Has a signal end this process by an exit, so that what is to be done then is done. To be called once. */
export function exitOnSignals() {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    process.on(signal, () => process.exit(code));
  }
}
