/** A process that serves a gateway and responds to each message with its port. Start it with `startPinned(0, …)`. */
import { bearer, createGateway, type Service } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { listen } from '../listen.ts';
import { createPets } from '../pets.ts';
import { respondToParent } from './pinned.ts';
import { apiKey, nameLength, pets } from './requests.ts';

export interface Target {
  readonly port: number;
}

const healthy: Service['handle'] = () => ({
  status: 200,
  headers: [['Content-Type', 'application/json']],
  body: '{}',
});

const { router, rows } = createPets();
for (let id = 1; id <= pets; id += 1) {
  rows.push({ id, name: id === 1 ? 'Rex' : 'R'.repeat(nameLength), categoryId: 1 });
}
const gateway = await createGateway({
  router,
  authentication: bearer({ verify: (token) => (token === apiKey ? 'Ada' : undefined) }),
  createContext: () => ({}),
  document: { title: 'Pets', version: '1.0.0' },
  routes: { '/healthz': healthy },
  mcp: mcp(),
  // The values of the pet store's process.
  maxInFlight: 1000,
  maxQueueMs: 50,
});
const { port } = await listen(gateway);

respondToParent(async () => ({ port }) satisfies Target);
