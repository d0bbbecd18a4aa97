// Loads @opentelemetry/api only if an SDK is registered.
export { type OpenTelemetry, openTelemetry } from './openTelemetry.ts';
