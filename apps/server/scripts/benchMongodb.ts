import { fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { startFaultProxy } from '@petstore/testing/mongodb';
import { type Collection, type Db, Long, MongoClient } from 'mongodb';
import { z } from 'zod';

/*
 * Requests a second through the server's process on MongoDB, over those of a loop with the bare driver that sends the
 * same commands: in turns, in one run, at one concurrency, on one database of the server that MONGODB_URI names. The
 * loop is a process of its own, as the server is. `npm run bench:mongodb [rounds] [concurrency]`
 *
 * Twice: with the database as near as it is, where all of them share this machine's processors and what the gateway and
 * its clients use the database lacks; and with each answer of the database `farMs` later, as from a machine of its own
 * that waits for a majority. There the database is the bound, and the ratio says what the gateway loses of it.
 */
const farMs = 10;
const stocked = 10_000;
const roundMs = 1_000;
const goal = 0.9;
const apiKey = 'a-key-to-measure-with';
const operations = ['list', 'get', 'create'] as const;
type Operation = (typeof operations)[number];

const Listening = z.object({ msg: z.literal('listening'), origin: z.string() });
const Environment = z.object({ MONGODB_URI: z.string() });
const given = Environment.safeParse(process.env).data?.MONGODB_URI;
if (given === undefined) throw new Error('MONGODB_URI names the server to measure on.');

/** Runs `call` in so many loops at once for a round. @returns calls a second */
async function loops(concurrency: number, call: (loop: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  const since = performance.now();
  const loop = async (number: number) => {
    while (performance.now() < since + roundMs) {
      await call(number);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, number) => loop(number)));
  return (done * 1_000) / (performance.now() - since);
}

const anyId = () => 1 + Math.floor(Math.random() * stocked);
const pet = { name: 'Rex', categoryId: 1, status: 'available' } as const;

interface Row {
  _id: Long | number;
  name: string;
  categoryId: Long | number;
  status: string;
}

function openBare(uri: string, database: string, concurrency: number) {
  // With the options that the store has.
  const client = new MongoClient(uri, {
    maxPoolSize: concurrency,
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
  });
  const animals = client.db(database).collection<Row>('animals');
  // Ids far from the server's, which are leased.
  let lastId = 2 ** 40;
  const calls: Record<Operation, () => Promise<unknown>> = {
    list: () =>
      animals.find({ _id: { $gt: Long.fromNumber(anyId()) } }, { sort: { _id: 1 }, limit: 21 }).toArray(),
    get: () => animals.findOne({ _id: Long.fromNumber(anyId()) }),
    create: () =>
      animals.insertOne({ ...pet, _id: Long.fromNumber(++lastId), categoryId: Long.fromNumber(1) }),
  };
  return { client, animals, calls };
}

const [first = '15', second = '8', ...rest] = process.argv.slice(2);
if (first === 'bare') serveLoops(given, second, Number(rest[0]));
else if (first === 'proxy') await serveProxy(given);
else {
  const [rounds, concurrency] = [Number(first), Number(second)];
  print(
    `${rounds} rounds of ${roundMs} ms each, ${concurrency} at once; goal ≥ ${goal} where the database is the bound`,
  );
  await compare('near', given, rounds, concurrency);
  const proxy = child(['proxy'], given);
  const [far] = await once(proxy, 'message');
  await compare(`${farMs} ms away`, String(far), rounds, concurrency);
  proxy.kill();
  process.exit(0);
}

/** This file as a process of its own. */
function child(args: readonly string[], to: string) {
  return fork(fileURLToPath(import.meta.url), args, { env: { ...process.env, MONGODB_URI: to } });
}

/** The process of the bare driver: it runs a round of what it is told, and answers with the rate. */
function serveLoops(to: string, database: string, concurrency: number): void {
  const { calls } = openBare(to, database, concurrency);
  process.on('message', (operation: Operation) => {
    void loops(concurrency, calls[operation]).then((rate) => process.send?.(rate));
  });
}

async function serveProxy(to: string): Promise<void> {
  const proxy = await startFaultProxy(to);
  proxy.set({ kind: 'delay', ms: farMs });
  process.send?.(proxy.uri);
}

/** The port that the server's log names once it listens. Lines before it tell of its database. */
async function portOf(log: Readable): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const { data } = Listening.safeParse(JSON.parse(line));
    if (data) return new URL(data.origin).port;
  }
  throw new Error('The server ended before it listened.');
}

async function compare(where: string, at: string, rounds: number, concurrency: number): Promise<void> {
  const database = `petstore-bench-${randomUUID()}`;
  const { client, animals } = openBare(at, database, concurrency);
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const server = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      MONGODB_URI: at,
      MONGODB_DB: database,
      MONGODB_POOL_SIZE: String(concurrency),
      API_KEY: apiKey,
      LOG_REQUESTS: 'none',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const bare = child(['bare', database, String(concurrency)], at);
  try {
    const port = await portOf(server.stdout);
    while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200);
    await stock(client.db(database), animals);
    const sockets = await Promise.all(
      Array.from({ length: concurrency }, () => openConnection(Number(port))),
    );
    const send = (operation: Operation) =>
      loops(concurrency, async (loop) => sockets[loop]?.(request(operation)));
    const askBare = async (operation: Operation): Promise<number> => {
      bare.send(operation);
      const [rate] = await once(bare, 'message');
      return Number(rate);
    };
    for (const operation of operations) {
      await send(operation);
      await askBare(operation);
      const measured: { gateway: number; driver: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        // Who is first takes turns too.
        const early = round % 2 === 0 ? await send(operation) : undefined;
        const driver = await askBare(operation);
        measured.push({ gateway: early ?? (await send(operation)), driver });
      }
      const rates = {
        gateway: median(measured.map(({ gateway }) => gateway)),
        driver: median(measured.map(({ driver }) => driver)),
      };
      const ratio = median(measured.map(({ gateway, driver }) => gateway / driver));
      print(
        [
          `database ${where}`.padEnd(20),
          operation.padEnd(7),
          `gateway ${rates.gateway.toFixed(0).padStart(6)}/s`,
          `driver ${rates.driver.toFixed(0).padStart(6)}/s`,
          `ratio ${ratio.toFixed(2)}`,
        ].join('  '),
      );
    }
  } finally {
    bare.kill();
    server.kill();
    await once(server, 'exit');
    await client.db(database).dropDatabase();
    await client.close();
  }
}

/** Animals, and the counter as `copy` leaves it: no new animal gets an id that is taken. */
async function stock(db: Db, animals: Collection<Row>): Promise<void> {
  const rows = Array.from({ length: stocked }, (_, index) => ({
    ...pet,
    _id: Long.fromNumber(index + 1),
    categoryId: Long.fromNumber(1),
  }));
  await animals.insertMany(rows);
  await db
    .collection<{ _id: string }>('counters')
    .updateOne({ _id: 'lastAnimalId' }, { $set: { last: Long.fromNumber(stocked) } }, { upsert: true });
}

function request(operation: Operation): string {
  const head = `Host: petstore\r\nAuthorization: Bearer ${apiKey}\r\n`;
  if (operation === 'list') return `GET /v1/pets?cursor=${anyId()} HTTP/1.1\r\n${head}\r\n`;
  if (operation === 'get') return `GET /v1/pets/${anyId()} HTTP/1.1\r\n${head}\r\n`;
  const body = JSON.stringify(pet);
  return `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** A connection that is kept alive, and as little client as there can be: what it costs counts against the gateway. */
async function openConnection(port: number): Promise<(text: string) => Promise<void>> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  let received = '';
  let response: () => void = () => {};
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
    if (received.length < end + 4 + length) return;
    if (!received.startsWith('HTTP/1.1 20')) throw new Error(received);
    received = '';
    response();
  });
  return (text) =>
    new Promise((resolve) => {
      response = resolve;
      socket.write(text);
    });
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
