// Loads @opentelemetry/api, where an SDK is registered.
export { type OpenTelemetry, openTelemetry } from './openTelemetry.ts';
