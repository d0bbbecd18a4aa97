import { startShelter } from './startShelter.ts';

const { API_KEY, DATA_DIR = 'shelter-data', HOST, MONGODB_DB, MONGODB_URI, PORT = '3002' } = process.env;

const { origin, firstKey, close } = await startShelter({
  host: HOST,
  port: Number(PORT),
  dataDir: DATA_DIR,
  // An empty value means unset.
  mongodbUri: MONGODB_URI === '' ? undefined : MONGODB_URI,
  database: MONGODB_DB,
  apiKey: API_KEY === '' ? undefined : API_KEY,
});
if (firstKey !== undefined) {
  process.stderr.write(
    `This store had no API key, so one was created. It is shown only once; save it now:\n\n  ${firstKey}\n\n`,
  );
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
process.stdout.write(`Shelter: ${origin}/v1/animals and ${origin}/openapi.json\n`);
