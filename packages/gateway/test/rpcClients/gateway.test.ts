import { serveGateway } from './gatewayServer.ts';
import { rpcClients } from './rpcClients.ts';

rpcClients(serveGateway);
