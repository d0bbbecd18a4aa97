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
 * Compares the requests per second of the server on MongoDB with those of a loop of the driver that sends the same commands.
 * Both run in turns in one run, each in a separate process, at the same concurrency, on one database of MONGODB_URI.
 * `npm run bench:mongodb -w @petstore/server [rounds] [concurrency]`
 *
 * It measures twice. First with the database as it is, where gateway, clients and database share the cores of this machine.
 * Then with each response of the database delayed by `farMs`, like a database on another machine that waits for a majority.
 * There the database is the bottleneck, and the ratio shows the cost of the gateway.
 */
const farMs = 10;
const stocked = 10_000;
const roundMs = 1_000;
const goal = 0.9;
const benchApiKey = 'a-key-to-measure-with';
const benchOperations = ['list', 'get', 'create'] as const;
type BenchOperation = (typeof benchOperations)[number];

const ListeningLine = z.object({ msg: z.literal('listening'), origin: z.string() });
const BenchEnvironment = z.object({ MONGODB_URI: z.string() });
const mongodbUri = BenchEnvironment.safeParse(process.env).data?.MONGODB_URI;
if (mongodbUri === undefined) throw new Error('MONGODB_URI names the server to measure on.');

/**
 * Runs `call` in concurrent loops for one round.
 * @returns calls per second
 */
async function runLoops(concurrency: number, call: (loop: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  const startedAt = performance.now();
  const loop = async (number: number) => {
    while (performance.now() < startedAt + roundMs) {
      await call(number);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, number) => loop(number)));
  return (done * 1_000) / (performance.now() - startedAt);
}

const anyId = () => 1 + Math.floor(Math.random() * stocked);
const newAnimal = { name: 'Rex', categoryId: 1, status: 'available' } as const;

interface AnimalRow {
  _id: Long | number;
  name: string;
  categoryId: Long | number;
  status: string;
}

function openDriver(uri: string, database: string, concurrency: number) {
  // With the options of the store.
  const client = new MongoClient(uri, {
    maxPoolSize: concurrency,
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
  });
  const animals = client.db(database).collection<AnimalRow>('animals');
  // Far from the ids that the server leases.
  let lastId = 2 ** 40;
  const calls: Record<BenchOperation, () => Promise<unknown>> = {
    list: () =>
      animals.find({ _id: { $gt: Long.fromNumber(anyId()) } }, { sort: { _id: 1 }, limit: 21 }).toArray(),
    get: () => animals.findOne({ _id: Long.fromNumber(anyId()) }),
    create: () =>
      animals.insertOne({ ...newAnimal, _id: Long.fromNumber(++lastId), categoryId: Long.fromNumber(1) }),
  };
  return { client, animals, calls };
}

const [first = '15', second = '8', ...rest] = process.argv.slice(2);
if (first === 'bare') serveLoops(mongodbUri, second, Number(rest[0]));
else if (first === 'proxy') await serveProxy(mongodbUri);
else {
  const [rounds, concurrency] = [Number(first), Number(second)];
  printLine(
    `${rounds} rounds of ${roundMs} ms each, ${concurrency} at once; goal ≥ ${goal} where the database is the bound`,
  );
  await compare('near', mongodbUri, rounds, concurrency);
  const proxy = forkSelf(['proxy'], mongodbUri);
  const [far] = await once(proxy, 'message');
  await compare(`${farMs} ms away`, String(far), rounds, concurrency);
  proxy.kill();
  process.exit(0);
}

/** Runs this file in another process. */
function forkSelf(args: readonly string[], uri: string) {
  return fork(fileURLToPath(import.meta.url), args, { env: { ...process.env, MONGODB_URI: uri } });
}

/** Runs in the driver's process: runs a round of the operation it receives, and sends back the rate. */
function serveLoops(uri: string, database: string, concurrency: number): void {
  const { calls } = openDriver(uri, database, concurrency);
  process.on('message', (operation: BenchOperation) => {
    void runLoops(concurrency, calls[operation]).then((rate) => process.send?.(rate));
  });
}

async function serveProxy(uri: string): Promise<void> {
  const proxy = await startFaultProxy(uri);
  proxy.set({ kind: 'delay', ms: farMs });
  process.send?.(proxy.uri);
}

/** Reads the port from the server's log line `listening`. Earlier lines are about the database. */
async function portOf(log: Readable): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const { data } = ListeningLine.safeParse(JSON.parse(line));
    if (data) return new URL(data.origin).port;
  }
  throw new Error('The server ended before it listened.');
}

async function compare(where: string, uri: string, rounds: number, concurrency: number): Promise<void> {
  const database = `petstore-bench-${randomUUID()}`;
  const { client, animals } = openDriver(uri, database, concurrency);
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const server = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      MONGODB_URI: uri,
      MONGODB_DB: database,
      MONGODB_POOL_SIZE: String(concurrency),
      API_KEY: benchApiKey,
      LOG_REQUESTS: 'none',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const driverProcess = forkSelf(['bare', database, String(concurrency)], uri);
  try {
    const port = await portOf(server.stdout);
    while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200);
    await stock(client.db(database), animals);
    const sockets = await Promise.all(
      Array.from({ length: concurrency }, () => openConnection(Number(port))),
    );
    const sendToGateway = (operation: BenchOperation) =>
      runLoops(concurrency, async (loop) => sockets[loop]?.(request(operation)));
    const sendToDriver = async (operation: BenchOperation): Promise<number> => {
      driverProcess.send(operation);
      const [rate] = await once(driverProcess, 'message');
      return Number(rate);
    };
    for (const operation of benchOperations) {
      await sendToGateway(operation);
      await sendToDriver(operation);
      const measured: { gateway: number; driver: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        // Alternates which one runs first.
        const gatewayFirst = round % 2 === 0 ? await sendToGateway(operation) : undefined;
        const driver = await sendToDriver(operation);
        measured.push({ gateway: gatewayFirst ?? (await sendToGateway(operation)), driver });
      }
      const rates = {
        gateway: median(measured.map(({ gateway }) => gateway)),
        driver: median(measured.map(({ driver }) => driver)),
      };
      const ratio = median(measured.map(({ gateway, driver }) => gateway / driver));
      printLine(
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
    driverProcess.kill();
    server.kill();
    await once(server, 'exit');
    await client.db(database).dropDatabase();
    await client.close();
  }
}

/** Inserts animals and sets the counter like `copy`, so that new animals get unused ids. */
async function stock(db: Db, animals: Collection<AnimalRow>): Promise<void> {
  const rows = Array.from({ length: stocked }, (_, index) => ({
    ...newAnimal,
    _id: Long.fromNumber(index + 1),
    categoryId: Long.fromNumber(1),
  }));
  await animals.insertMany(rows);
  await db
    .collection<{ _id: string }>('counters')
    .updateOne({ _id: 'lastAnimalId' }, { $set: { last: Long.fromNumber(stocked) } }, { upsert: true });
}

function request(operation: BenchOperation): string {
  const head = `Host: petstore\r\nAuthorization: Bearer ${benchApiKey}\r\n`;
  if (operation === 'list') return `GET /v1/pets?cursor=${anyId()} HTTP/1.1\r\n${head}\r\n`;
  if (operation === 'get') return `GET /v1/pets/${anyId()} HTTP/1.1\r\n${head}\r\n`;
  const body = JSON.stringify(newAnimal);
  return `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Opens a keep-alive connection. The client is minimal, because its cost counts against the gateway. */
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

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
