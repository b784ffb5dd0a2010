// @ts-check
// A program of workerd, which finds no packages and compiles no bytes: it is bundled with the package, and the core is a module
// of the configuration.

/** Options of esbuild; the condition `workerd` chooses the exports that import the core. */
export const WORKERD_BUNDLE = /** @type {const} */ ({ platform: 'neutral', external: ['*.wasm?module'] });

/**
 * A configuration beside the script and the `node_modules` of a project: the behaviour of that day's workerd, without what it has
 * of Node, of which the package needs nothing.
 *
 * @param {{ script: string, v8Flags?: readonly string[], port?: number }} options `port`: listens there, on the loopback
 */
export function workerdConfig({ script, v8Flags = [], port }) {
  const flags = v8Flags.map((flag) => JSON.stringify(flag)).join(', ');
  const sockets =
    port === undefined
      ? ''
      : `\n  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],`;
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = [${flags}],
  services = [(name = "main", worker = (
    modules = [
      (name = "worker.mjs", esModule = embed "${script}"),
      (name = "core.wasm?module", wasm = embed "node_modules/plimsoll/dist/core.wasm"),
    ],
    compatibilityDate = "2026-11-17",
    compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  ))],${sockets}
);
`;
}
