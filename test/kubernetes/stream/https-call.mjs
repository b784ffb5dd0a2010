// @ts-check
// Requests to an API server with a certificate and a token, past every fault.
import { Agent, request } from 'node:https';

/**
 * @param {{ port: number, token: string, authority: string }} server
 * @returns {import('./feed.mjs').Call}
 */
export function httpsCall({ port, token, authority }) {
  const agent = new Agent({ ca: authority, keepAlive: true });
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const sent = request({ host: '127.0.0.1', port, path, method, agent, headers }, (message) => {
        let answer = '';
        message.setEncoding('utf8').on('data', (piece) => {
          answer += piece;
        });
        message.on('error', reject);
        message.on('end', () => resolve({ status: message.statusCode ?? 0, body: parsed(answer) }));
      });
      sent.on('error', reject);
      sent.end(text);
    });
}

/** An answer that is no JSON is a message. @param {string} text */
function parsed(text) {
  return /^[{[]/.test(text) ? JSON.parse(text) : { message: text };
}
