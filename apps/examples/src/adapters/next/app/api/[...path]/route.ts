// app/api/[...path]/route.ts
import { gateway } from '@/server/gateway';

const handler = (request: Request) => gateway.fetch(request);

export { handler as DELETE, handler as GET, handler as HEAD, handler as OPTIONS, handler as PATCH };
export { handler as POST, handler as PUT };
