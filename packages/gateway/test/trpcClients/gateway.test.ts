import { serveGateway } from './gateway.ts';
import { trpcClients } from './trpcClients.ts';

trpcClients(serveGateway);
