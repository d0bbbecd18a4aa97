import { serveGateway } from './gateway.ts';
import { rpcClients } from './rpcClients.ts';

rpcClients(serveGateway);
