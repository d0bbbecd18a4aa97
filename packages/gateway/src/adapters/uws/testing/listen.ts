import { listenOn } from '../../server/testing/dial.ts';
import { serve } from '../serve.ts';

/** Serves for the running test. */
export const listen = listenOn(serve);
