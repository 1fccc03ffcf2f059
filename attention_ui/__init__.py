"""What the pages share on screen: the lesson frame, settings, charts, the cell inspector."""

import os

# Before torch is loaded. One thread is as fast for tensors of this size, and 10 to 100 times
# faster on a busy machine. torch.set_num_threads would have to be called in every thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")
