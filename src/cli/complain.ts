import { escapeControls } from './escape.ts';
import type { TextOutput } from './output.ts';

/** Tells on standard error what went wrong: one line, whatever names and texts are quoted in the message. */
export function complain(host: { readonly stderr: TextOutput }, error: Error): Promise<void> {
  return host.stderr.write(`plimsoll: ${escapeControls(error.message)}\n`);
}
