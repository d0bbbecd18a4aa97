import { Duplex } from 'node:stream';
import { http } from './builtins.ts';
import { LeanMessage, LeanResponse } from './lean.ts';

const wire =
  'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi' +
  'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi' +
  'GET /c HTTP/1.1\r\nHost: a\r\n\r\n';

/**
 * Whether this Node does what `lean.ts` needs. It answers three requests on a connection in memory: a body that is read,
 * one that is not, and none. 4 ms the first time, 1 ms then.
 */
export async function supportsLean(): Promise<boolean> {
  const bodies: string[] = [];
  let written = '';
  const response = (message: LeanMessage, res: LeanResponse): void => {
    const send = () => {
      try {
        if (res.isFree) res.sendWhole(message.url ?? '', undefined);
      } catch {
        // What is missing then is seen below.
      }
    };
    if (message.url === '/b') return send();
    message.receiver = (chunk) => {
      bodies.push(String(chunk));
      if (chunk === null && message.complete) send();
      return true;
    };
  };
  const options = { IncomingMessage: LeanMessage, ServerResponse: LeanResponse };
  const server = http.createServer<typeof LeanMessage, typeof LeanResponse>(options, response);
  server.on('clientError', () => {});
  const connection = new Duplex({
    read: () => {},
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  connection.on('error', () => {});
  server.emit('connection', connection);
  connection.push(wire);
  // It is read within this turn of the event loop.
  await new Promise(setImmediate);
  connection.destroy();
  // Ends the timer that checks connections.
  server.close();
  return written === '/a/b/c' && bodies.join() === 'hi,null,null';
}
