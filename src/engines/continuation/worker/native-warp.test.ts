import { warpCases } from '../../../../packages/clip-continuation/testing/warp.cases.ts';
import { nativeWarp } from './native-warp.ts';

warpCases('the warp of the native addon', nativeWarp);
