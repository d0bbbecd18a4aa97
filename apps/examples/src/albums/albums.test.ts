import { describe } from 'vitest';
import { albumsSuite } from './albumsSuite.ts';
import { startAlbums } from './startAlbums.ts';

describe('the albums example', () => {
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
