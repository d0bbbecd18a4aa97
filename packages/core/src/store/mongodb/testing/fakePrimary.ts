import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { BSON, type Document, Long, ObjectId } from 'mongodb';

/**
 * Response of the primary to a command: a document, or `cut` to close the connection. `undefined` selects the default: a
 * primary's response to hello, a leased block of ids, no documents for a find, and success for everything else.
 */
export type ReceivedResponse = Document | 'cut' | undefined;

const OP_QUERY = 2004;
const OP_MSG = 2013;

/** Starts a fake one-member replica set: the driver retries writes, and reads with concern `majority`. */
export async function startFakePrimary(responseTo: (command: Document) => ReceivedResponse) {
  const electionId = new ObjectId();
  let lastId = 0;

  function defaultResponse(command: Document, host: string): Document {
    if ('hello' in command || 'ismaster' in command) return { ...hello, hosts: [host], me: host, electionId };
    if ('findAndModify' in command) {
      lastId += 64;
      return {
        ok: 1,
        value: { _id: 'lastAnimalId', last: Long.fromNumber(lastId) },
        lastErrorObject: { n: 1, updatedExisting: true },
      };
    }
    if ('find' in command) return findResponse([]);
    return { ok: 1, n: 1 };
  }

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 16 && received.length >= received.readInt32LE(0)) {
        const message = received.subarray(0, received.readInt32LE(0));
        received = received.subarray(message.length);
        const command = commandIn(message);
        const response = responseTo(command) ?? defaultResponse(command, `127.0.0.1:${socket.localPort}`);
        if (response === 'cut') {
          socket.destroy();
          return;
        }
        socket.write(responseMessage(message, response));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    uri: `mongodb://127.0.0.1:${address.port}/?replicaSet=rs`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns the response to a find. */
export const findResponse = (firstBatch: readonly Document[]): Document => ({
  ok: 1,
  cursor: { id: Long.ZERO, ns: 'petstore.any', firstBatch },
});

const hello = {
  ok: 1,
  helloOk: true,
  ismaster: true,
  isWritablePrimary: true,
  setName: 'rs',
  setVersion: 1,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 21,
};

/** Decodes the command of an OP_QUERY or OP_MSG message. The documents of a write are in a separate section. */
function commandIn(message: Buffer): Document {
  if (message.readInt32LE(12) === OP_QUERY) {
    // Skips the flags, the name of a collection and two numbers.
    return BSON.deserialize(message.subarray(message.indexOf(0, 20) + 9));
  }
  const command: Document = {};
  for (let at = 20; at < message.length;) {
    const kind = message[at++];
    const section = message.subarray(at, at + message.readInt32LE(at));
    if (kind === 0) Object.assign(command, BSON.deserialize(section));
    else {
      const end = section.indexOf(0, 4);
      const documents: Document[] = [];
      for (let from = end + 1; from < section.length; from += section.readInt32LE(from))
        documents.push(BSON.deserialize(section.subarray(from, from + section.readInt32LE(from))));
      command[section.toString('utf8', 4, end)] = documents;
    }
    at += section.length;
  }
  return command;
}

function responseMessage(request: Buffer, response: Document): Buffer {
  const isQuery = request.readInt32LE(12) === OP_QUERY;
  const body = BSON.serialize(response);
  const head = Buffer.alloc(isQuery ? 36 : 21);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(request.readInt32LE(4), 8);
  head.writeInt32LE(isQuery ? 1 : OP_MSG, 12);
  if (isQuery) head.writeInt32LE(1, 32);
  return Buffer.concat([head, body]);
}
