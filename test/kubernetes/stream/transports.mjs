// @ts-check
// The ways to a server that readers take: the platform's fetch, or a KubeConfig of either major of client-node.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** @typedef {'fetch' | 'client-node-1' | 'client-node-2'} TransportName */
/** @typedef {import('../../../src/resource-cache/limit-reads.ts').ReadPath} ReadPath */

/**
 * @param {typeof import('../../../src/adapters/kubernetes/mod.ts')} library
 * @param {{ url: string, transport: TransportName, token?: string | undefined, authority?: string | undefined }} options
 */
export async function connect(library, { url, transport, token = '', authority }) {
  if (transport === 'fetch') {
    /** @type {Record<string, string>} */
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
    const given = token === '' ? {} : { token: async () => ({ token }) };
    return {
      transport: library.createFetchTransport({ baseUrl: url, ...given }),
      /** @type {ReadPath} */
      readPath: async (path, { signal }) => {
        const response = await fetch(url + path, { signal, headers });
        if (!response.ok) throw new Error(`Cannot read ${path}: ${response.status} ${await response.text()}`);
        return response.json();
      },
    };
  }
  const { KubeConfig } = await (transport === 'client-node-1' ? import('client-node-1') : import('client-node-2'));
  const kubeConfig = new KubeConfig();
  // Without TLS it wants to hear that this is meant.
  const trust =
    authority === undefined
      ? { skipTLSVerify: url.startsWith('http:') }
      : { caData: Buffer.from(authority).toString('base64') };
  kubeConfig.loadFromOptions({
    clusters: [{ name: 'c', server: url, ...trust }],
    users: [{ name: 'u', ...(token === '' ? {} : { token }) }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  /** @type {ReadPath} */
  const readPath = async (path, { signal }) => {
    const options = { signal, headers: { accept: 'application/json' } };
    await kubeConfig.applyToHTTPSOptions(options);
    return readJson(url + path, options);
  };
  return { transport: library.createClientNodeTransport({ kubeConfig }), readPath };
}

/**
 * @param {string} url
 * @param {import('node:https').RequestOptions} options
 * @returns {Promise<unknown>}
 */
function readJson(url, options) {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, options, (message) => {
      let text = '';
      message.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      message.on('error', reject);
      message.on('end', () => {
        if (message.statusCode !== 200) reject(new Error(`Cannot read ${url}: ${message.statusCode} ${text}`));
        else resolve(JSON.parse(text));
      });
    });
    request.on('error', reject);
    request.end();
  });
}
