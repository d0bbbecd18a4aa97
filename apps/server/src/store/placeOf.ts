import { resolve } from 'node:path';
import type { Configuration } from '../configuration/configuration.ts';

/** Formats where the store is. */
export const placeOf = ({ DATA_DIR, MONGODB_DB, MONGODB_URI }: Configuration): string =>
  MONGODB_URI === undefined ? `data folder ${resolve(DATA_DIR)}` : `database ${MONGODB_DB}`;
