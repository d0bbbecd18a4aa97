import { createGateway } from 'trpc-gateway';
import { serveGateway } from '../serveGateway.ts';
import { router } from './trpcRouter.ts';

const document = { title: 'The suite of oRPC', version: '1.0.0' };

await serveGateway(await createGateway({ router, createContext: () => ({}), document }));
