"""What all rooms use: arguments validated, results cached, tables read, traces displayed."""
