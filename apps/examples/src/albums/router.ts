import { albums } from './albums.ts';
import { router } from './trpc.ts';

export const albumRouter = router({ albums });
export type AlbumRouter = typeof albumRouter;
