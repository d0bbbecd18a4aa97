import { describe } from 'vitest';
import { albumsSuite } from './albumsSuite.ts';
import { startAlbums } from './startAlbums.ts';

describe('albums, served by the gateway', () => {
  albumsSuite(async () => {
    const listening = await startAlbums();
    return {
      origin: `http://127.0.0.1:${listening.port}`,
      close: async () => {
        await listening.close();
      },
    };
  });
});
