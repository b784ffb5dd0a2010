// @ts-check
// A real kube-apiserver as the server of a proof. Faults are made by a proxy between it and the reader; what it refuses is told.
import { startApiServer } from './apiserver.mjs';
import { provideKinds } from './definitions.mjs';
import { FaultyProxy, PROXY_FAULTS } from './proxy.mjs';

/** Rounds for which nothing comes through, at most. */
const STALLED_ROUNDS = 2;

/**
 * @param {string} command
 * @returns {NonNullable<import('./prove.mjs').ProofOptions['open']>}
 */
export function openRealServer(command) {
  return async (wanted, random, namespaces) => {
    const server = await startApiServer(command);
    const proxy = new FaultyProxy(server.port);
    try {
      for (const name of namespaces) await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
      const { kinds, refused } = await provideKinds(server.call, wanted);
      const port = await proxy.listen();
      let round = 0;
      return {
        url: `https://127.0.0.1:${port}`,
        token: server.token,
        authority: server.authority,
        env: { NODE_EXTRA_CA_CERTS: server.authorityFile, DENO_CERT: server.authorityFile },
        call: server.call,
        kinds,
        refuses: true,
        notes: refused,
        only: [...kinds.keys()],
        round: async () => {
          if (round % STALLED_ROUNDS === 0) proxy.heal();
          const fault = PROXY_FAULTS[round] ?? PROXY_FAULTS[Math.floor(random() * PROXY_FAULTS.length)] ?? 'drop';
          proxy.hurt(fault, round < PROXY_FAULTS.length ? 1 : random(), random);
          round++;
        },
        heal: () => proxy.heal(),
        watched: () => proxy.connected(),
        hits: proxy.hits,
        requests: () => `${proxy.connections} connections`,
        close: async () => {
          await proxy.close();
          server.stop();
        },
      };
    } catch (error) {
      server.stop();
      throw error;
    }
  };
}
