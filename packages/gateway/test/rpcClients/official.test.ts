import { serveOfficial } from './officialServer.ts';
import { rpcClients } from './rpcClients.ts';

rpcClients(serveOfficial);
