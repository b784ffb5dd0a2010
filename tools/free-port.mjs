// @ts-check
import { createServer } from 'node:net';

/**
 * A port on loopback that nobody listens on. Somebody may take it before the caller does: a server that cannot listen says so.
 *
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
