export { type Checks, healthRoutes, type HealthOptions, NotReadyError } from './healthRoutes.ts';
