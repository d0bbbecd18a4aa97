import type { HttpResponse } from '@petstore/gateway';
import { Registry } from 'prom-client';

/** `/metrics`, as Prometheus reads it. */
export const metricsPage = (text: () => Promise<string>) => async (): Promise<HttpResponse> => ({
  status: 200,
  headers: [['content-type', Registry.PROMETHEUS_CONTENT_TYPE]],
  body: await text(),
});
