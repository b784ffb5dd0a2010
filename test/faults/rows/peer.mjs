// @ts-check
// One process of a row. It is sent steps (the texts of functions), runs each with its context and sends what comes out. It
// ends when whoever started it does.
import { Context } from './context.mjs';

/** @typedef {{ id: number, text: string, args: unknown[] }} Step */

const END = () => process.exit(0);
process.on('disconnect', END);

let context = new Context();

/** @type {Record<string, (argument: any) => unknown>} */
const COMMANDS = {
  open: async (options) => {
    await context.close();
    context = new Context();
    await context.open(options);
  },
  close: () => context.close(),
  // Nothing is ended here: the process has to end by itself, as nothing is left to do.
  leave: () => {
    process.off('disconnect', END);
    setImmediate(() => process.disconnect());
  },
};

/** @param {Step} step */
async function run({ text, args }) {
  const command = COMMANDS[text];
  if (command !== undefined) return command(args[0]);
  const { default: step } = await import(`data:text/javascript,${encodeURIComponent(`export default ${text}`)}`);
  return step(context, ...args);
}

process.on('message', (/** @type {Step} */ step) => {
  run(step).then(
    (value) => process.send?.({ id: step.id, value }),
    (error) => process.send?.({ id: step.id, error: `${error?.stack ?? error}` }),
  );
});
process.send?.({ id: 0 });
