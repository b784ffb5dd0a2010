/**
 * What has to be undone whatever happens: on a normal end, on an error that nobody caught, and on a signal. Synchronous,
 * since a process that exits waits for nothing.
 */
const pending = new Set<() => void>();

/** Registers a clean-up; the function returned runs it at once, and it never runs twice. */
export function onExit(undo: () => void): () => void {
  pending.add(undo);
  return () => {
    if (pending.delete(undo)) undo();
  };
}

/** Signals that end a run, and the exit codes that a shell gives them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Has clean-ups run at exit and on signals. Call it once. */
export function cleanUpAtExit(): void {
  process.on('exit', undoAll);
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      console.error(`\n${signal}: cleaning up`);
      process.exit(code);
    });
  }
}

/** The last first; one that fails does not keep the others from running. */
function undoAll(): void {
  for (const undo of [...pending].reverse()) {
    pending.delete(undo);
    try {
      undo();
    } catch (error) {
      console.error(`Cannot clean up: ${error}`);
    }
  }
}
