import { createGateway } from 'trpc-gateway';
import { type Listening, serve } from 'trpc-gateway/node';
import { AlbumStore } from './albumStore.ts';
import { albumRouter } from './router.ts';

/** Serves the albums on 127.0.0.1. Port 0 picks a free port. */
export async function startAlbums(port = 0): Promise<Listening> {
  const store = new AlbumStore();
  const gateway = await createGateway({
    router: albumRouter,
    createContext: ({ response }) => ({ store, response }),
    document: { title: 'Albums', version: '1.0.0' },
  });
  return serve(gateway, { port });
}
