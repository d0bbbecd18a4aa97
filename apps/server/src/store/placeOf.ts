import { resolve } from 'node:path';
import { type Configuration, mongodbUriPattern } from '../configuration/configuration.ts';

/** Returns the name of the database of a MongoDB URI. */
export function databaseOf({
  MONGODB_DB,
  MONGODB_URI = '',
}: Pick<Configuration, 'MONGODB_DB' | 'MONGODB_URI'>): string {
  const [, inPath = ''] = mongodbUriPattern.exec(MONGODB_URI) ?? [];
  // There, `admin` is the database of the user, not of the data.
  return MONGODB_DB ?? (inPath === '' || inPath === 'admin' ? 'petstore' : inPath);
}

/** Formats where the store is. */
export const placeOf = (configuration: Configuration): string =>
  configuration.MONGODB_URI === undefined
    ? `data folder ${resolve(configuration.DATA_DIR)}`
    : `database ${databaseOf(configuration)}`;
