import { z } from 'zod';
import { t } from '../trpc';

export const iconRouter = t.router({
  all: t.procedure
    .meta({ openapi: { method: 'GET', path: '/icons' }, mcp: { enabled: true } })
    .input(z.undefined())
    .output(z.array(z.string()))
    .query(() => ['home.svg']),
});
