// pages/api/[...path].ts
import { nodeHandler } from 'trpc-gateway/node';
import { gateway } from '@/server/gateway';

export const config = { api: { bodyParser: false, externalResolver: true } };
export default nodeHandler(gateway);
