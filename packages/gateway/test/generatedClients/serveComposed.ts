import { serve } from 'trpc-gateway/uws';
import { createComposed } from './composed.ts';

// Serves the router of all shapes, for Schemathesis and for generated clients: `node --conditions=trpc-gateway-source serveComposed.ts`.

const { port } = await serve(await createComposed('3.2'), { port: 0 });
process.stdout.write(`Shapes: http://127.0.0.1:${port}\n`);
