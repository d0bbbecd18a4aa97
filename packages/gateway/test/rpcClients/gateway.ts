import { serve } from '../servers.ts';
import { gatewayOn } from './gatewayServer.ts';

/** The gateway, on the adapter of this run. */
export const serveGateway = gatewayOn(serve);
