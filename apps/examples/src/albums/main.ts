import { startAlbums } from './startAlbums.ts';

const listening = await startAlbums(Number(process.env['PORT'] ?? 3001));
const origin = `http://${listening.host}:${listening.port}`;
process.stdout.write(`Albums: ${origin}/v1/albums and ${origin}/openapi.json\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void listening.close());
