import { createGateway } from 'trpc-gateway';
import { serve } from 'trpc-gateway/node';
import { appRouter } from './router.ts';

const start = performance.now();
const gateway = await createGateway({
  router: appRouter,
  createContext: ({ request }) => ({ token: request.header('authorization') }),
  document: { title: 'Services', version: '1.0.0' },
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  openapi: true,
});
await serve(gateway, { port: Number(process.env['PORT'] ?? 3000) });
const { user, system } = process.cpuUsage();
const started = {
  procedures: gateway.procedures.length,
  startMs: Math.round(performance.now() - start),
  cpuMs: Math.round((user + system) / 1000),
};
process.stdout.write(`${JSON.stringify(started)}\n`);
