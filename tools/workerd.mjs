// @ts-check
// A program of workerd, which finds no packages and compiles no bytes: it is bundled with the package, and the core is a module
// of the configuration.

/** Options of esbuild; the condition `workerd` chooses the exports that import the core. */
export const WORKERD_BUNDLE = /** @type {const} */ ({ platform: 'neutral', external: ['*.wasm?module'] });

/**
 * A configuration beside the script and the `node_modules` of a project: the behaviour of that day's workerd, without what it has
 * of Node, of which the package needs nothing.
 *
 * @param {object} options
 * @param {string} options.script
 * @param {readonly string[]} [options.v8Flags]
 * @param {number} [options.port] listens there, on the loopback
 * @param {{ className: string, folder: string }} [options.objects] an exported class of Durable Objects, bound under its name;
 *   their SQLite is in files below that folder, since the storage in memory has none
 */
export function workerdConfig({ script, v8Flags = [], port, objects }) {
  const flags = v8Flags.map((flag) => JSON.stringify(flag)).join(', ');
  const sockets =
    port === undefined
      ? ''
      : `\n  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],`;
  const disk =
    objects === undefined
      ? ''
      : `, (name = "disk", disk = (path = ${JSON.stringify(objects.folder)}, writable = true))`;
  const bound =
    objects === undefined
      ? ''
      : `
    bindings = [(name = "${objects.className}", durableObjectNamespace = "${objects.className}")],
    durableObjectNamespaces = [(className = "${objects.className}", uniqueKey = "plimsoll", enableSql = true)],
    durableObjectStorage = (localDisk = "disk"),`;
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = [${flags}],
  services = [(name = "main", worker = (
    modules = [
      (name = "worker.mjs", esModule = embed "${script}"),
      (name = "core.wasm?module", wasm = embed "node_modules/plimsoll/dist/core.wasm"),
    ],
    compatibilityDate = "2026-11-17",
    compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],${bound}
  ))${disk}],${sockets}
);
`;
}
