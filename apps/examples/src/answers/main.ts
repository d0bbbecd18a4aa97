// `npm run example answers`
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'trpc-gateway-runtime';
import { answersService } from './service.ts';

const { DATA_DIR = join(tmpdir(), 'answers'), PORT = '3005', WORD_MS = '200' } = process.env;
await run(answersService({ port: Number(PORT), dataDir: DATA_DIR, wordMs: Number(WORD_MS) }));
