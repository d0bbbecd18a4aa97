import { serve } from '../servers.ts';
import { gatewayOn } from './gatewayServer.ts';

/** Serves the gateway through the adapter under test. */
export const serveGateway = gatewayOn(serve);
